/**
 * A kernel of one boot sector that does what operating systems do and firmware does not: it goes from real mode (prints
 * "K" to the first serial port) through protected mode ("I") to 64-bit mode with paging in the upper half of the
 * address space ("L"), computes 64 million rounds while it handles timer interrupts, and prints "N".
 *
 * The rounds matter. A software KVM (without VT-x or AMD-V below it) interprets such code one instruction at a time:
 * the firmware still appears within seconds, but a Linux kernel would be unpacking itself for hours, as if it hung. A
 * real KVM needs 0.1 s for everything, TCG 0.2 s, and such an impostor minutes.
 */
export function probeKernel(): Buffer {
  const sector = Buffer.alloc(512);
  Buffer.from(program.join("").replaceAll(" ", ""), "hex").copy(sector);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

/** The last letter: until then the kernel has not proved anything. */
export const probeOutput = "KILN\n";

const program = [
  // 16 bit, loaded at 0x7c00 by the firmware
  "fa 6631c0 8ed8 8ec0 8ed0 bc007c", //     cli; eax = ds = es = ss = 0; sp = 0x7c00
  "ea127c0000", //                          jmp 0:next
  "baf803 b04b ee", //                      dx = 0x3f8; out 'K'
  "b000 bf0010 b90040 f3aa", //             clear 0x1000…0x4fff: page tables and interrupt table
  "c70600100320 c706f81f0320", //           PML4[0] = PML4[511] = 0x2000, present, writable
  "c70600200330 c706f02f0330", //           PDPT[0] = PDPT[510] = 0x3000
  "c70600308300", //                        PD[0] = the first 2 MiB, here and at 0xffffffff80000000
  "0f0116207d 0f20c0 0c01 0f22c0", //       lgdt; cr0.PE = 1
  "ea527c0800", //                          jmp 8:next
  // 32 bit
  "b810000000 8ed8 8ec0 8ed0 b049 ee", //   ds = es = ss = 0x10; out 'I'
  "0f20e0 0c20 0f22e0", //                  cr4.PAE = 1
  "b800100000 0f22d8", //                   cr3 = 0x1000
  "b9800000c0 0f32 80cc01 0f30", //         EFER.LME = 1
  "0f20c0 0d00000080 0f22c0", //            cr0.PG = 1
  "ea8e7c00001800", //                      jmp 0x18:next
  // 64 bit
  "48c7c0977c0080 ffe0", //                 jmp to the next line in the upper half
  "66baf803 48c7c4007c0080 b04c ee", //     rsp = 0xffffffff80007c00; out 'L'
  "bf80400000 66c707f57c c747021800008e", //interrupt 8, the timer as the firmware left it: `tick`,
  "66c747060080 c74708ffffffff", //         as an interrupt gate, in the upper half
  "0f011c25267d0000", //                    lidt
  "b0fe e621 b0ff e6a1", //                 of all interrupts only the timer's
  "31db fb", //                             ticks = 0; sti
  "b900000004", //                          ecx = 0x4000000
  "c1c005 01c8 ffc9 75f7", //               round: rol eax, 5; eax += ecx; until --ecx is 0
  "85db 7503 f4 ebf9", //                   wait for a tick
  "b04e ee b00a ee", //                     out 'N', '\n'
  "fa f4 ebfc", //                          halt
  "ffc3 50 b020 e620 58 48cf 90", //        tick: ticks++; end of interrupt; iretq
  // tables, at 0x7d00
  "0000000000000000", //                    descriptors: none
  "ffff0000009acf00", //                      8  code, 32 bit
  "ffff00000092cf00", //                   0x10  data
  "ffff0000009aaf00", //                   0x18  code, 64 bit
  "1f00 007d0000", //                       the descriptor table, for lgdt
  "8f00 0040000000000000", //               the interrupt table, for lidt
];
