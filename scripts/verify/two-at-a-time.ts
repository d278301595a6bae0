/** Works on the items in their order, two at a time. An emulated machine uses a processor. */
export async function twoAtATime<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const workOnThem = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all([workOnThem(), workOnThem()]);
}
