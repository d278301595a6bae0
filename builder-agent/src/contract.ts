/** The agent imports the messages that it shares with the Worker only through this module. */
export * from "../../src/lib/contract/index.ts";
