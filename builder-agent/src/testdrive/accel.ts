/** How QEMU runs a guest's instructions: on the processor, or by emulation. */
export type Accel = "kvm" | "tcg";
