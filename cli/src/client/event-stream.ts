import { setTimeout as sleep } from "node:timers/promises";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { Complaint } from "../complaint.ts";
import type { AnswerOf, CallName, Client, RequestOf } from "./client.ts";
import { unreachable } from "./failure.ts";

export interface StreamEvent {
  id: string | undefined;
  event: string;
  data: string;
}

/** Calls that answer a stream of events. */
type StreamCall = { [N in CallName]: AnswerOf<N> extends Response ? N : never }[CallName];

interface Following {
  after?: string | undefined;
  signal?: AbortSignal | undefined;
}

const pauseMs = 1_000;
const longestPauseMs = 15_000;

/**
 * The events of a call. If the connection is lost, continues after the last event.
 * @throws Complaint if the call is refused
 */
export async function* follow<N extends StreamCall>(
  client: Client,
  name: N,
  request: RequestOf<N>,
  { after, signal }: Following = {},
): AsyncGenerator<StreamEvent> {
  let last = after;
  let pause = pauseMs;
  for (;;) {
    try {
      const onOpen = () => (pause = pauseMs);
      for await (const event of readStream(client, name, request, { after: last, signal, onOpen })) {
        last = event.id ?? last;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof Complaint && error.exit !== "unreachable" && error.exit !== "broken") throw error;
      if (pause > longestPauseMs) throw error;
    }
    if (signal?.aborted) return;
    await sleep(pause);
    pause *= 2;
  }
}

/**
 * The events of a call until the connection ends.
 * @throws Complaint if the call is refused, or the connection is lost
 */
export async function* readStream<N extends StreamCall>(
  client: Client,
  name: N,
  request: RequestOf<N>,
  { after, signal, onOpen }: Following & { onOpen: () => void },
): AsyncGenerator<StreamEvent> {
  const answer = await open(client, name, request, { after, signal });
  onOpen();
  try {
    yield* eventsOf(answer);
  } catch (error) {
    throw unreachable(client.url, error);
  }
}

async function open<N extends StreamCall>(
  client: Client,
  name: N,
  request: RequestOf<N>,
  { after, signal }: Following,
): Promise<Response> {
  const headers = {
    accept: "text/event-stream, application/json;q=0.5",
    ...(after !== undefined && { "last-event-id": after }),
  };
  const answer: unknown = await client.call(name, request, { headers, ...(signal && { signal }) });
  if (answer instanceof Response) return answer;
  throw new TypeError(`${name} did not return a stream`);
}

async function* eventsOf({ body }: Response): AsyncGenerator<StreamEvent> {
  if (!body) return;
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { id, event = "message", data } of events) yield { id, event, data };
}
