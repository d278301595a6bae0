import { Refusal } from "#domain/refusal";

/** Works with something that was stored before any row names it. If the work is refused, it is discarded. */
export async function orDiscard<T>(discard: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) await discard();
    throw error;
  }
}
