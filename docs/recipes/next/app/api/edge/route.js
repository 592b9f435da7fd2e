import { judged } from "../../order.js";

export const runtime = "edge";
export const POST = judged;
