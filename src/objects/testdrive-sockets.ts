import { attemptHeader, type TestdriveReport } from "#lib/contract/index";
import type { TestdriveState } from "#domain/testdrives/machine";
import { checkSessionMs } from "#domain/testdrives/testdrive";
import { ControlChannel, reportIn } from "./agent-channel.ts";
import { GuestWeb } from "./guest-web.ts";
import { ModifiedChannel } from "./modified-channel.ts";
import type { Moment, TestdriveSession } from "./testdrive-session.ts";
import { VncRelay } from "./vnc-relay.ts";

/** The connections of a testdrive: its agent's channels, its viewers' pairs of sockets and the guest's web server. */
export class TestdriveSockets {
  readonly #session: TestdriveSession;
  readonly #sessionMs: number;
  readonly #relay: VncRelay;
  readonly #modified: ModifiedChannel;
  readonly #control: ControlChannel;
  readonly #guestWeb = new GuestWeb(() => this.countViewers());

  constructor(ctx: DurableObjectState, env: Env, session: TestdriveSession) {
    this.#session = session;
    this.#sessionMs = Number(env.TESTDRIVE_MINUTES) * 60_000;
    this.#relay = new VncRelay(ctx);
    this.#modified = new ModifiedChannel(ctx);
    this.#control = new ControlChannel(ctx);
  }

  /** Serves sockets, and visitors of the guest's web server. The routes have checked session and page token. */
  async serve(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, side, viewer = ""] = url.pathname.split("/");
    const token = request.headers.get(attemptHeader) ?? "";
    const isAttempt = this.#session.isAttempt(Number(url.searchParams.get("agent")), token);
    if (side === "modified") return await this.#modified.serve(request, { isAttempt }); // even if the session has ended
    const isSocket = request.headers.get("upgrade")?.toLowerCase() === "websocket";
    if (!isSocket && side !== "web" && side !== "visits") return new Response(null, { status: 426 });
    const state = await this.#session.advance({ type: "woke_up" });
    if (state === undefined || state.status === "ended") return refused(410, "This testdrive has ended.");
    if (side === "page") return await this.#admitPage(request, state);
    if (side === "web") return await this.#visitGuest(request, state);
    if (!isAttempt) return refused(410, "This testdrive belongs to another agent.");
    if (side === "control") return await this.#acceptControl();
    if (side === "visits") return await this.#guestWeb.ofAgent(viewer, request);
    return this.#relay.join(decodeURIComponent(viewer)) ?? refused(410, "This viewer has left.");
  }

  async receive(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    if (this.#modified.owns(socket)) return; // the agent sends its answers as requests
    if (!this.#control.owns(socket)) return this.#relay.pass(socket, frame);
    const report = reportIn(frame);
    if (!report) return socket.close(1008, "This message is not a report.");
    await this.#session.advance(this.#eventOf(report));
  }

  async part(socket: WebSocket, code: number, reason: string): Promise<void> {
    if (this.#modified.owns(socket)) return this.#modified.giveUp();
    if (this.#control.owns(socket)) return;
    this.#relay.part(socket, code, reason);
    await this.countViewers();
  }

  hangUp(reason: string): void {
    this.#control.hangUp(reason);
    this.#relay.closeAll(1000, "The testdrive has ended.");
    this.#guestWeb.closeAll();
  }

  countViewers(): Promise<TestdriveState | undefined> {
    const count = this.#relay.viewers.length + this.#guestWeb.visitors;
    return this.#session.advance({ type: "viewers", of: "page", count });
  }

  async #admitPage(request: Request, state: TestdriveState): Promise<Response> {
    if (state.status === "waiting") return refused(409, "This testdrive has no machine yet.");
    const admitted = this.#relay.admit(request);
    if (!admitted) return refused(503, "This testdrive has too many viewers at the moment.");
    this.#control.order({ type: "viewer", viewer: admitted.viewer });
    await this.countViewers();
    return admitted.response;
  }

  async #visitGuest(request: Request, state: TestdriveState): Promise<Response> {
    if (state.status !== "running") return refused(503, "This machine is still starting.\n");
    return await this.#guestWeb.visit(request, (order) => this.#control.order(order));
  }

  /** The agent's channel. A new one gets an order for each viewer that the agent has not connected to. */
  async #acceptControl(): Promise<Response> {
    const response = this.#control.accept();
    for (const viewer of this.#relay.waiting) this.#control.order({ type: "viewer", viewer });
    await this.#session.advance({ type: "heard" });
    return response;
  }

  #eventOf(report: TestdriveReport): Moment {
    switch (report.type) {
      case "preparing":
        return { type: "prepares", message: report.message };
      case "ready":
        return this.#session.facts?.checks
          ? { type: "ready", sessionMs: checkSessionMs, isUnwatched: true }
          : { type: "ready", sessionMs: this.#sessionMs };
      case "tcp_viewers":
        return { type: "viewers", of: "tcp", count: report.count };
      case "stopped":
        return { type: "agent_stopped", reason: report.reason };
      case "alive":
        return { type: "heard" };
    }
  }
}

const refused = (status: number, sentence: string) => new Response(sentence, { status });
