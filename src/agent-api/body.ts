import type { Context } from "hono";
import type { z } from "zod";
import { readWhole } from "#http/whole-body";
import { AgentRefusal } from "#agent-api/refusal";

/** The limit for all messages except one. They have only a few fields. */
const usualBytes = 64 * 1024;

/** Reads a body of at most `maxBytes`. */
export async function readBytes(c: Context, maxBytes: number): Promise<Uint8Array> {
  const body = c.req.raw.body;
  const bytes = body ? await readWhole(body, maxBytes) : new Uint8Array();
  if (bytes === undefined) throw new AgentRefusal("too_large");
  return bytes;
}

/** Reads a message of the contract. */
export async function readMessage<Message extends z.ZodType>(
  c: Context,
  message: Message,
  maxBytes = usualBytes,
): Promise<z.output<Message>> {
  const text = new TextDecoder().decode(await readBytes(c, maxBytes));
  return message.parse(JSON.parse(text));
}
