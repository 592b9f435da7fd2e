import { serve } from "./worker.js";
import type { Done, Job, Start } from "./worker-gate.js";

// The types are those of a page: this is the part of a worker's that is used.
const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent) => void;
  postMessage(message: Done): void;
};

scope.onmessage = async ({ data }: MessageEvent<Start>) => {
  const work = await serve(data, (done) => scope.postMessage(done));
  scope.onmessage = ({ data }: MessageEvent<Job>) => work(data);
};
