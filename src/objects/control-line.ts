import { TestdriveReport, type TestdriveOrder } from "#contract/index";
import { AgentLine } from "./agent-line.ts";

/** The line to the agent that runs a testdrive: orders go out, reports come in. */
export class ControlLine extends AgentLine {
  constructor(ctx: DurableObjectState) {
    super(ctx, "control");
  }

  /** → whether there is a line to an agent. */
  order(order: TestdriveOrder): boolean {
    return this.send(order);
  }

  hangUp(reason: string): void {
    this.order({ type: "stop", reason });
    this.close("The testdrive has ended.");
  }
}

export function reportIn(frame: string | ArrayBuffer): TestdriveReport | undefined {
  try {
    return TestdriveReport.parse(typeof frame === "string" ? JSON.parse(frame) : undefined);
  } catch {
    return undefined;
  }
}
