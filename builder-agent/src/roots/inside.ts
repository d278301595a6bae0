/** Where a builder root has its facts (RootFacts), from its top. */
export const factsInside = "usr/lib/kiln/root.json";

/** Where it has the kernel of guests. */
export const kernelInside = "usr/lib/kiln/vmlinuz";
