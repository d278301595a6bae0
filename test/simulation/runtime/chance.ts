/** Replaces node:crypto for the service and the agent. */
export * from "node:crypto";
export { randomBytes, randomInt, randomUUID } from "./globals.ts";
