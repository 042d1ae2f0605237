// Keeps the files of the page, so that it opens again without a network. It asks for these files alone, and never elsewhere.
const CACHE = "averment-playground";
const FILES = ["index.html", "playground.css", "playground.js", "worker.js", "averment.js", "averment.wasm", "examples.json"];

const addressOf = (name) => new URL(name, self.registration.scope).href;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES.map(addressOf))).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

// The network comes first, so that a new version of the site is seen; what it brings takes the place of what was kept.
async function freshOrKept(request, address) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(address, answer.clone());
    return answer;
  } catch (error) {
    const keptAnswer = await cache.match(address);
    if (keptAnswer) return keptAnswer;
    throw error;
  }
}

self.addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const asked = origin + pathname;
  const address = asked === self.registration.scope ? addressOf("index.html") : asked;
  if (event.request.method === "GET" && FILES.some((name) => addressOf(name) === address)) event.respondWith(freshOrKept(event.request, address));
});
