/** V8's memory figures of the Worker's isolate, through workerd's inspector (Chrome DevTools Protocol, domain Runtime). */
import { once } from "node:events";
import { WebSocket } from "ws";
import { z } from "zod";

const HeapUsage = z.object({ usedSize: z.number(), embedderHeapUsedSize: z.number(), backingStorageSize: z.number() });
const Target = z.object({ id: z.string(), webSocketDebuggerUrl: z.string() });
const Message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});
const ContextCreated = z.object({ context: z.object({ id: z.number() }) });
const Evaluated = z.object({ result: z.object({ objectId: z.string() }) });
const Found = z.object({ objects: z.object({ objectId: z.string() }) });
const Numbers = z.object({ result: z.object({ value: z.array(z.number()) }) });

export class Inspector implements Disposable {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (message: z.infer<typeof Message>) => void>();
  #contextId = 0;
  #lastId = 0;

  /** @param worker its name in wrangler.toml */
  static async open(port: number, worker: string): Promise<Inspector> {
    const targets = z.array(Target).parse(await (await fetch(`http://127.0.0.1:${port}/json`)).json());
    const target = targets.find(({ id }) => id === `core:user:${worker}`);
    if (!target) throw new Error(`the inspector has no target ${worker}`);
    const inspector = new Inspector(new WebSocket(target.webSocketDebuggerUrl));
    await once(inspector.#socket, "open");
    await inspector.#ask("Runtime.enable");
    return inspector;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#take(Message.parse(JSON.parse(String(data)))));
  }

  /** JavaScript's memory: objects and their data outside the heap, without WASM's memory. Includes uncollected garbage. */
  async heapBytes(): Promise<number> {
    const { usedSize, embedderHeapUsedSize, backingStorageSize } = HeapUsage.parse(
      await this.#ask("Runtime.getHeapUsage"),
    );
    return usedSize + embedderHeapUsedSize + backingStorageSize;
  }

  /** Memory of all WASM instances. It never shrinks, so this is also their peak. */
  async wasmBytes(): Promise<number> {
    const expression = "WebAssembly.Memory.prototype";
    const prototype = Evaluated.parse(await this.#ask("Runtime.evaluate", { expression, contextId: this.#contextId }));
    const { objects } = Found.parse(
      await this.#ask("Runtime.queryObjects", { prototypeObjectId: prototype.result.objectId }),
    );
    const sizes = await this.#ask("Runtime.callFunctionOn", {
      objectId: objects.objectId,
      functionDeclaration: "function () { return this.map((memory) => memory.buffer.byteLength); }",
      returnByValue: true,
    });
    return Numbers.parse(sizes).result.value.reduce((sum, bytes) => sum + bytes, 0);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  async #ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<z.infer<typeof Message>>();
    this.#answers.set(id, resolve);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await promise;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  #take(message: z.infer<typeof Message>): void {
    if (message.method === "Runtime.executionContextCreated") {
      this.#contextId = ContextCreated.parse(message.params).context.id;
    }
    if (message.id === undefined) return;
    this.#answers.get(message.id)?.(message);
    this.#answers.delete(message.id);
  }
}
