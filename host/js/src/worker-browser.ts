import { serve } from "./worker.js";
import type { Done, Job, Start } from "./worker-gate.js";

// TypeScript has the types of a page here. These are the members of a worker's scope that are used.
const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent) => void;
  postMessage(message: Done): void;
};

scope.onmessage = async ({ data }: MessageEvent<Start>) => {
  const work = await serve(data, (done) => scope.postMessage(done));
  scope.onmessage = ({ data }: MessageEvent<Job>) => work(data);
};
