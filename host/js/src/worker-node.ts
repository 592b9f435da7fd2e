import { parentPort, workerData } from "node:worker_threads";
import { serve } from "./worker.js";

const port = parentPort;
if (port === null) {
  throw new Error("this is what a WorkerGate starts, not a module to import");
}
// No top-level `await`, because bundlers may convert this module to CommonJS.
serve(workerData, (done) => port.postMessage(done)).then((work) => port.on("message", work));
