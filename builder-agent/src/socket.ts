import type { WebSocket } from "ws";
import { AgentNotice, redialHeader, type AgentReport } from "./contract.ts";
import type { Log } from "./log.ts";
import { stayConnected, parseMessage, untilClosed } from "./redial.ts";

export interface SocketOptions {
  dial: () => WebSocket;
  onNotice: (notice: AgentNotice) => void;
  /** Makes the report about the host for the Worker. */
  report: () => Promise<AgentReport>;
  /** Emits "change" when the Worker must get a report immediately. */
  changes?: EventTarget;
  /** Called when the socket has opened, and when it is closed. */
  onConnection?: (isOpen: boolean) => void;
  log: Log;
  pingEveryMs?: number;
  reportEveryMs?: number;
}

/** After two pings without an answer, the socket counts as dead. */
const pingEveryMs = 10_000;
/**
 * Reports are rare unless something changes, because each wakes an object of the Worker. The same one is not sent
 * again.
 */
const reportEveryMs = 60_000;
/** A connection that lasted this long was good. */
const steadyMs = 30_000;

/** Keeps one socket to the Worker open until `signal` is aborted. */
export async function keepSocket(options: SocketOptions, signal: AbortSignal): Promise<void> {
  let reason = "";
  let spreadMs = 0;
  const onSpread = (ms: number) => (spreadMs = ms);
  const connect = async () => {
    const openedAt = Date.now();
    reason = await holdSocket({ ...options, onSpread }, signal);
    options.onConnection?.(false);
    return Date.now() - openedAt > steadyMs ? "good" : "failed";
  };
  const onPause = (redialInMs: number) => options.log("socket lost", { reason, redialInMs });
  const delays = { baseDelayMs: 1_000, maxDelayMs: 30_000, spreadMs: () => spreadMs };
  await stayConnected(connect, { ...delays, signal, onPause });
}

/** Holds one socket until it is closed. Returns why it was closed. */
async function holdSocket(
  {
    dial,
    onNotice,
    log,
    report,
    changes = new EventTarget(),
    onConnection,
    onSpread,
    pingEveryMs: every = pingEveryMs,
    reportEveryMs: reportEvery = reportEveryMs,
  }: SocketOptions & { onSpread: (ms: number) => void },
  signal: AbortSignal,
): Promise<string> {
  const socket = dial();
  let unanswered = 0;
  const watchdog = setInterval(() => {
    if (++unanswered > 2) socket.terminate();
    // A text, not a ping frame: the Worker answers it without waking its object, and records the time.
    else if (socket.readyState === socket.OPEN) socket.send("ping");
  }, every);
  const reporter = reportOn(socket, { report, changes, everyMs: reportEvery });
  const close = () => {
    socket.close(1000);
    // An unreachable Worker does not answer the close frame, and the agent must end soon.
    setTimeout(() => socket.terminate(), 500).unref();
  };
  signal.addEventListener("abort", close);
  const onOpen = () => {
    log("socket open");
    onConnection?.(true);
    reporter.report();
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
  socket.on("upgrade", ({ headers }) => onSpread(1000 * Math.max(0, Number(headers[redialHeader]) || 0)));
  const { reason } = await untilClosed(socket, { onOpen, onText });
  clearInterval(watchdog);
  reporter.end();
  signal.removeEventListener("abort", close);
  return reason;
}

type Reporting = Required<Pick<SocketOptions, "report" | "changes">> & { everyMs: number };

/** Sends reports on a socket that is open. */
function reportOn(socket: WebSocket, { report, changes, everyMs }: Reporting) {
  let reported = "";
  const send = async ({ evenIfSame }: { evenIfSame: boolean }) => {
    const text = await report().then(JSON.stringify, () => "");
    const isNew = evenIfSame || text !== reported;
    if (text !== "" && isNew && socket.readyState === socket.OPEN) socket.send((reported = text));
  };
  // The same slots may have been taken and freed since the Worker chose this agent.
  const onChange = () => void send({ evenIfSame: true });
  const onTime = () => void send({ evenIfSame: false });
  const timer = setInterval(onTime, everyMs);
  changes.addEventListener("change", onChange);
  return {
    report: onTime,
    end() {
      clearInterval(timer);
      changes.removeEventListener("change", onChange);
    },
  };
}
