//! The limit for `real.assert`: a program written by hand for these eight rules and the runs of `gen_traces.py` alone.
//!
//! `real_limit FILE` prints how many runs fail each rule, and any; `benches/table.py` holds `aver check` against the time that it takes. It
//! knows the keys of these runs, checks neither JSON nor UTF-8, and needs AVX2: it shows what is possible, and is no design to copy.

#![allow(unsafe_code, reason = "the instructions of a processor have no other form")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement that meets something unexpected has failed"
)]

#[cfg(target_arch = "x86_64")]
mod limit {
    use std::arch::x86_64::*;
    use std::io::Read;

    /// Bytes that are read at once.
    const CHUNK: usize = 1 << 18;
    const RULES: usize = 8;

    /// A bit for each byte of a chunk: quotes of strings, and brackets outside of them.
    #[derive(Default)]
    struct Masks {
        quote: Vec<u64>,
        open: Vec<u64>,
        close: Vec<u64>,
    }

    impl Masks {
        #[target_feature(enable = "avx2,pclmulqdq")]
        unsafe fn fill(&mut self, text: &[u8]) {
            for mask in [&mut self.quote, &mut self.open, &mut self.close] {
                mask.clear();
            }
            let (mut escapes, mut inside) = (false, 0_u64);
            for part in text.chunks(64) {
                let mut bytes = [b' '; 64];
                bytes[..part.len()].copy_from_slice(part);
                let [low, high] = [0, 32].map(|at| unsafe { _mm256_loadu_si256(bytes.as_ptr().add(at).cast()) });
                let equal = |byte: u8, bit: i8| {
                    let [low, high] = [low, high].map(|half| {
                        let half = _mm256_or_si256(half, _mm256_set1_epi8(bit));
                        _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))) as u32
                    });
                    u64::from(low) | u64::from(high) << 32
                };
                let mut quotes = equal(b'"', 0);
                let mut slashes = equal(b'\\', 0);
                if escapes {
                    (quotes, slashes) = (quotes & !1, slashes & !1);
                    escapes = false;
                }
                // Each backslash that is left takes the character behind it along.
                while slashes != 0 {
                    let behind = slashes.trailing_zeros() + 1;
                    slashes &= slashes - 1;
                    match 1_u64.checked_shl(behind) {
                        Some(next) => (quotes, slashes) = (quotes & !next, slashes & !next),
                        None => escapes = true,
                    }
                }
                let all = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, quotes as i64), _mm_set1_epi8(-1));
                let strings = _mm_cvtsi128_si64(all) as u64 ^ inside;
                inside = ((strings as i64) >> 63) as u64;
                self.quote.push(quotes);
                // `{` and `[`, and `}` and `]`, are one bit apart.
                self.open.push(equal(b'{', 0x20) & !strings);
                self.close.push(equal(b'}', 0x20) & !strings);
            }
        }

        fn next_quote(&self, from: usize) -> usize {
            let mut word = from / 64;
            let mut bits = self.quote[word] & (u64::MAX << (from % 64));
            while bits == 0 {
                word += 1;
                bits = self.quote[word];
            }
            word * 64 + bits.trailing_zeros() as usize
        }

        /// Behind the bracket that closes the one at an offset.
        fn closing(&self, from: usize) -> usize {
            let (mut word, mut depth) = (from / 64, 0);
            let mut from_here = u64::MAX << (from % 64);
            loop {
                let (open, mut close) = (self.open[word] & from_here, self.close[word] & from_here);
                while close != 0 {
                    let before = (close & close.wrapping_neg()) - 1;
                    let closed = (self.close[word] & from_here & before).count_ones() + 1;
                    if depth + (open & before).count_ones() == closed {
                        return word * 64 + close.trailing_zeros() as usize + 1;
                    }
                    close &= close - 1;
                }
                depth = depth + open.count_ones() - (self.close[word] & from_here).count_ones();
                (word, from_here) = (word + 1, u64::MAX);
            }
        }
    }

    struct Chunk<'a> {
        text: &'a [u8],
        masks: &'a Masks,
    }

    impl<'a> Chunk<'a> {
        fn value_end(&self, at: usize) -> usize {
            match self.text[at] {
                b'"' => self.masks.next_quote(at + 1) + 1,
                b'{' | b'[' => self.masks.closing(at),
                _ => at + self.text[at..].iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap(),
            }
        }

        /// Shows each key with where its value begins and ends.
        fn each_entry(&self, object: usize, mut each: impl FnMut(&'a [u8], usize, usize)) {
            let mut at = object + 1;
            while self.text[at] == b'"' {
                let key = self.masks.next_quote(at + 1);
                let end = self.value_end(key + 2);
                each(&self.text[at + 1..key], key + 2, end);
                at = end + usize::from(self.text[end] == b',');
            }
        }

        fn argument(&self, args: usize, wanted: &[u8]) -> Option<&'a [u8]> {
            let mut found = None;
            self.each_entry(args, |key, at, end| {
                if key == wanted {
                    found = Some(&self.text[at..end]);
                }
            });
            found
        }

        /// A bit for each rule that a run fails.
        fn failed_rules(&self, line: usize, seen: &mut Seen<'a>) -> u8 {
            seen.clear();
            let (mut fails, text) = (0, self.text);
            self.each_entry(line, |key, at, _| match key {
                b"tool_calls" => {
                    let mut call = at + 1;
                    while text[call] == b'{' {
                        fails |= self.failed_by_call(call, seen);
                        call = self.masks.closing(call);
                        call += usize::from(text[call] == b',');
                    }
                }
                b"usage" => self.each_entry(at, |key, at, end| match key {
                    b"cost_usd" => fails |= u8::from(number(&text[at..end]) > 0.05) << 3,
                    b"total_tokens" => fails |= u8::from(number(&text[at..end]) > 9000.0) << 4,
                    _ => {}
                }),
                b"output" => {
                    let answer = self.argument(at, b"text").unwrap_or_default();
                    fails |= u8::from(memchr::memmem::find(answer, b"balance-sheet").is_some()) << 7;
                }
                _ => {}
            });
            fails
        }

        fn failed_by_call(&self, call: usize, seen: &mut Seen<'a>) -> u8 {
            let (mut name, mut args, mut failed) = (&[][..], 0, false);
            self.each_entry(call, |key, at, end| match key {
                b"name" => name = &self.text[at + 1..end - 1],
                b"args" => args = at,
                b"error" => failed = self.text[at] != b'n',
                _ => {}
            });
            let again = |seen: &mut Vec<&'a [u8]>, value: Option<&'a [u8]>| {
                let known = value.is_some_and(|value| seen.contains(&value));
                seen.extend(value);
                known
            };
            match name {
                b"get_customer" => _ = again(&mut seen.customers, self.argument(args, b"id")),
                b"delete_record" => {
                    return u8::from(!self.argument(args, b"id").is_some_and(|id| seen.customers.contains(&id)));
                }
                b"send_email" => return u8::from(again(&mut seen.addresses, self.argument(args, b"to"))) << 1,
                b"refund" => {
                    let amount = self.argument(args, b"amount").map_or(f64::NAN, number);
                    let twice = again(&mut seen.orders, self.argument(args, b"order_id"));
                    return u8::from(twice) << 2 | u8::from(amount.is_nan() || amount > 30.0) << 5;
                }
                b"api_call" => return u8::from(failed) << 6,
                _ => {}
            }
            0
        }
    }

    #[derive(Default)]
    struct Seen<'a> {
        customers: Vec<&'a [u8]>,
        addresses: Vec<&'a [u8]>,
        orders: Vec<&'a [u8]>,
    }

    impl Seen<'_> {
        fn clear(&mut self) {
            self.customers.clear();
            self.addresses.clear();
            self.orders.clear();
        }
    }

    /// What is no number is none: a text in quotes, `null`.
    fn number(text: &[u8]) -> f64 {
        std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }

    pub(super) fn print_failures(path: &str) {
        assert!(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("pclmulqdq"), "this needs AVX2");
        let mut file = std::fs::File::open(path).unwrap();
        let (mut buffer, mut held, mut masks) = (vec![0; CHUNK], 0, Masks::default());
        let (mut failed, mut any) = ([0_u64; RULES], 0_u64);
        loop {
            let read = file.read(&mut buffer[held..]).unwrap();
            held += read;
            let Some(whole) = memchr::memrchr(b'\n', &buffer[..held]).map(|last| last + 1) else {
                assert!(read > 0 || held == 0, "the last line has no end");
                if read == 0 {
                    break;
                }
                buffer.resize(buffer.len() * 2, 0);
                continue;
            };
            let text = &buffer[..whole];
            // SAFETY: the processor has the instructions.
            unsafe { masks.fill(text) };
            let (chunk, mut seen, mut line) = (Chunk { text, masks: &masks }, Seen::default(), 0);
            for end in memchr::memchr_iter(b'\n', text) {
                let fails = chunk.failed_rules(line, &mut seen);
                failed.iter_mut().enumerate().for_each(|(rule, count)| *count += u64::from(fails >> rule & 1));
                any += u64::from(fails != 0);
                line = end + 1;
            }
            buffer.copy_within(whole..held, 0);
            held -= whole;
        }
        for (rule, count) in ('a'..).zip(failed) {
            println!("{rule} {count}");
        }
        println!("any {any}");
    }
}

fn main() {
    let path = std::env::args().nth(1).filter(|path| path != "--bench");
    let Some(path) = path else { return println!("usage: real_limit FILE") };
    #[cfg(target_arch = "x86_64")]
    limit::print_failures(&path);
    #[cfg(not(target_arch = "x86_64"))]
    println!("there is no limit for this processor: {path}");
}
