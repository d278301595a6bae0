import { writeFile } from "node:fs/promises";
import { bootSector } from "../testdrive/session.ts";

/**
 * A guest of one sector. It prints "login: " on the serial console and then answers each key with a line: the key, the
 * number of keys so far (kept in memory), and the key before it (kept in the disk's second sector; 0 if there was
 * none).
 */
const program = [
  "31c0 8ed8 8ec0 bc007c", //                          ds = es = 0; sp = 0x7c00
  "be007e c7041000 c744020100 c744040080 c744060000", // a request for the disk: one sector, at 0x8000,
  "66c744080100000066c7440c00000000", //               the second one
  "c606007f30", //                                     count = '0'
  "bd807c 8a4600 84c0 7406 e83a00 45 ebf3", //         print the text at 0x7c80
  "b400 cd16 88c1 e82e00", //                          key: wait for one; print it
  "fe06007f a0007f e82400", //                         print ++count
  "be007e b280 b442 cd13 a00080 e81500", //            read the sector; print its first byte
  "880e0080 be007e b280 b80043 cd13", //               write the key there
  "b00a e80200 ebc9", //                               print the line's end; go to key
  "baf803 ee c3", //                                   print: to the first serial port
  "6c6f67696e3a2000", //                               "login: "
];

export const writeRememberingDisk = (path: string, text = "login: ") =>
  writeFile(path, Buffer.concat([sectorSaying(text), Buffer.alloc(1024 * 1024 - 512)]));

function sectorSaying(text: string): Buffer {
  const sector = bootSector(program.join(""));
  sector.fill(0, 0x80, 0x80 + 8).write(text, 0x80);
  return sector;
}
