// SHA-256 (FIPS 180-4), for engines whose only SHA-256 is asynchronous. A receipt needs tens of thousands of short
// digests.

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const K = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));

/** The same for the square roots of the first eight primes. */
const H = Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

const schedule = new Int32Array(64);

/** Returns the digest of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = H.slice();
  const whole = bytes.length - (bytes.length % 64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += 64) block(state, view, at);
  // The remaining bytes, a one bit, zeros, and the length in bits.
  const rest = new Uint8Array(bytes.length - whole < 56 ? 64 : 128);
  rest.set(bytes.subarray(whole));
  rest[bytes.length - whole] = 0x80;
  const end = new DataView(rest.buffer);
  end.setUint32(rest.length - 8, Math.floor(bytes.length / 2 ** 29));
  end.setUint32(rest.length - 4, bytes.length * 8);
  for (let at = 0; at < rest.length; at += 64) block(state, end, at);
  const digest = new DataView(new ArrayBuffer(32));
  for (const [index, word] of state.entries()) digest.setInt32(index * 4, word);
  return new Uint8Array(digest.buffer);
}

function block(state: Int32Array, view: DataView, from: number): void {
  const w = schedule;
  for (let t = 0; t < 16; t += 1) w[t] = view.getInt32(from + t * 4);
  for (let t = 16; t < 64; t += 1) {
    const x = at(w, t - 15);
    const y = at(w, t - 2);
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[t] = (at(w, t - 16) + s0 + at(w, t - 7) + s1) | 0;
  }
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let t = 0; t < 64; t += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(K, t) + at(w, t)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] = at(state, 0) + a;
  state[1] = at(state, 1) + b;
  state[2] = at(state, 2) + c;
  state[3] = at(state, 3) + d;
  state[4] = at(state, 4) + e;
  state[5] = at(state, 5) + f;
  state[6] = at(state, 6) + g;
  state[7] = at(state, 7) + h;
}

/** Returns an element that must exist. */
function at(words: Int32Array, index: number): number {
  return words[index] as number;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let number = 2; found.length < count; number += 1) {
    if (found.every((prime) => number % prime !== 0)) found.push(number);
  }
  return found;
}

function fraction(root: number): number {
  return (root - Math.floor(root)) * 2 ** 32;
}
