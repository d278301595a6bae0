/** The only door to the messages that Worker and agent share. */
export * from "../../src/lib/contract/index.ts";
