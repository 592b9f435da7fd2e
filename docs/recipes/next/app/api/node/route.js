import { judged } from "../../order.js";

export const runtime = "nodejs";
export const POST = judged;
