import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Machine } from "./machine.ts";

/** The part of a tool's answer that an assistant reads. */
interface Answer {
  text: string;
  isError: boolean;
}

/** Starts `kiln mcp` on a machine, as an assistant does. */
export async function assistantOf({ folder: cwd, env }: Machine, ...options: string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: "kiln", args: ["mcp", ...options], env, cwd }));
  return client;
}

export async function called(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Answer> {
  const { content, isError } = await client.callTool({ name, arguments: given });
  return { text: content.map((part) => (part.type === "text" ? part.text : "")).join(""), isError: isError ?? false };
}
