// Adds the token of a gate to every request of the program that imports this: `node --import ./authorize.mjs`.

import http from "node:http";
import { syncBuiltinESMExports } from "node:module";

import { getGlobalDispatcher, setGlobalDispatcher } from "undici";

const token = ["authorization", `Bearer ${process.env.GATE_TOKEN}`];

/** Headers come as an object, as pairs, or as a list of names and values. */
function added(headers) {
  if (!headers) return [token[0], token[1]];
  if (Array.isArray(headers)) return [...headers, ...token];
  return { ...headers, [token[0]]: token[1] };
}

setGlobalDispatcher(
  getGlobalDispatcher().compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headers: added(options.headers) }, handler),
  ),
);

const { request } = http;
http.request = (...given) => request(...given).setHeader(...token);
syncBuiltinESMExports();
