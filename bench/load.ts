import { Agent, get } from "node:http";

export interface Target {
  url: string;
  headers: Record<string, string>;
  /** The length of every answer. Another length is a failure. */
  bytes: number;
}

export interface Load {
  connections: number;
  seconds: number;
  maxRequests: number;
}

/** Keeps the connections busy with one request at a time each. Returns the number of complete answers per second. */
export async function requestsPerSecond(target: Target, { connections, seconds, maxRequests }: Load): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let asked = 0;
  let answered = 0;
  const keepAsking = async () => {
    while (performance.now() < endsAt && asked++ < maxRequests) {
      await ask(target, agent);
      answered++;
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, keepAsking));
    return (answered * 1000) / (performance.now() - startedAt);
  } finally {
    agent.destroy();
  }
}

function ask({ url, headers, bytes }: Target, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers }, (answer) => {
      let size = 0;
      answer.on("data", (chunk: Buffer) => (size += chunk.length));
      answer.on("error", reject);
      answer.on("end", () => {
        if (answer.statusCode === 200 && size === bytes) resolve();
        else reject(new Error(`${url} answered ${answer.statusCode} with ${size} bytes, not 200 with ${bytes}`));
      });
    });
    request.on("error", reject);
  });
}
