import { judged } from "./judged.js";

judged().then((reports) => console.log(JSON.stringify(reports)));
