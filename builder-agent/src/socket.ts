import type { WebSocket } from "ws";
import { AgentNotice, type AgentReport } from "./contract.ts";
import type { Log } from "./log.ts";
import { stayConnected, parseMessage, untilClosed } from "./redial.ts";

export interface SocketOptions {
  dial: () => WebSocket;
  onNotice: (notice: AgentNotice) => void;
  /** Makes the report about the host for the Worker. */
  report: () => Promise<AgentReport>;
  log: Log;
  pingEveryMs?: number;
  reportEveryMs?: number;
}

/** After two pings without an answer, the socket counts as dead. */
const pingEveryMs = 10_000;
/** A report wakes an object of the Worker, so reports are rare, and an unchanged report is not sent again. */
const reportEveryMs = 60_000;
/** A connection that lasted this long was good. */
const steadyMs = 30_000;

/** Keeps one socket to the Worker open until `signal` is aborted. */
export async function keepSocket(options: SocketOptions, signal: AbortSignal): Promise<void> {
  let reason = "";
  const connect = async () => {
    const openedAt = Date.now();
    reason = await holdSocket(options, signal);
    return Date.now() - openedAt > steadyMs ? "good" : "failed";
  };
  const onPause = (redialInMs: number) => options.log("socket lost", { reason, redialInMs });
  await stayConnected(connect, { baseDelayMs: 1_000, maxDelayMs: 30_000, signal, onPause });
}

/** Holds one socket until it is closed. → why it was closed */
async function holdSocket(
  {
    dial,
    onNotice,
    log,
    report,
    pingEveryMs: every = pingEveryMs,
    reportEveryMs: reportEvery = reportEveryMs,
  }: SocketOptions,
  signal: AbortSignal,
): Promise<string> {
  const socket = dial();
  let unanswered = 0;
  const watchdog = setInterval(() => {
    if (++unanswered > 2) socket.terminate();
    // A text, not a ping frame: the Worker answers it without waking its object, and records the time.
    else if (socket.readyState === socket.OPEN) socket.send("ping");
  }, every);
  let reported = "";
  const tell = async () => {
    const text = await report().then(JSON.stringify, () => reported);
    if (text !== reported && socket.readyState === socket.OPEN) socket.send((reported = text));
  };
  const reporter = setInterval(() => void tell(), reportEvery);
  const close = () => {
    socket.close(1000);
    // An unreachable Worker does not answer the close frame, and the agent must end soon.
    setTimeout(() => socket.terminate(), 500).unref();
  };
  signal.addEventListener("abort", close);
  const onOpen = () => {
    log("socket open");
    void tell();
    // Work may have arrived while there was no socket.
    onNotice({ type: "wake" });
  };
  const onText = (text: string) => {
    unanswered = 0;
    if (text === "pong") return;
    const notice = parseMessage(AgentNotice, text);
    if (notice === undefined) log("unknown message on the socket");
    else onNotice(notice);
  };
  const { reason } = await untilClosed(socket, { onOpen, onText });
  clearInterval(watchdog);
  clearInterval(reporter);
  signal.removeEventListener("abort", close);
  return reason;
}
