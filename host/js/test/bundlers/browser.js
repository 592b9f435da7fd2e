import { judged } from "./judged.js";

judged().then(
  (reports) => {
    window.judged = reports;
  },
  (error) => {
    window.judged = { error: String(error) };
  },
);
