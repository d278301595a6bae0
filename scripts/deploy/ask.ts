import { createInterface } from "node:readline/promises";
import { Complaint } from "../launch/complaint.ts";

export type Ask = (question: string, option: string, fallback?: string) => Promise<string>;

/** Asks the operator on the terminal. Without a terminal it returns the default. @throws Complaint if there is none */
export const askOnTerminal: Ask = async (question, option, fallback) => {
  if (!process.stdin.isTTY) {
    if (fallback !== undefined) return fallback;
    throw new Complaint(`${question}: give ${option}.`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const shown = fallback ? ` [${fallback}]` : "";
    const answer = (await terminal.question(`${question}${shown}: `)).trim();
    if (answer !== "" || fallback !== undefined) return answer || (fallback ?? "");
    throw new Complaint(`${question}: this needs an answer, or ${option}.`);
  } finally {
    terminal.close();
  }
};
