export default { test: { include: ["*.vitest.mjs"] } };
