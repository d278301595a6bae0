import { describe, expect, it } from "vitest";
import { boundaryOf, MultipartFault, partsOf } from "#http/multipart";
import { bytesOf, collected, inChunks, textOf } from "../repodata/support.ts";

interface ReadPart {
  name: string | undefined;
  fileName: string | undefined;
  text: string;
}

async function read(form: string | Uint8Array, boundary: string, chunkBytes: number): Promise<ReadPart[]> {
  const parts: ReadPart[] = [];
  for await (const { name, fileName, body } of partsOf(inChunks(form, chunkBytes), boundary)) {
    parts.push({ name, fileName, text: textOf(await collected(body)) });
  }
  return parts;
}

const lines = (...all: string[]) => all.join("\r\n");

/** A form that begins and never ends. Counts the requested chunks. */
function endless(start: string) {
  let givenBytes = 0;
  const chunk = bytesOf("x".repeat(1000));
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(givenBytes === 0 ? bytesOf(start) : chunk);
        givenBytes += chunk.byteLength;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, given: () => givenBytes };
}

const field = (name: string) =>
  lines("--x", `Content-Disposition: form-data; name="${name}"`, "", name.repeat(5000), "");

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no fault",
    (error: unknown) => error,
  );

/** Forms as clients send them (compatibility.md, "Bodies"): the Content-Type, the body, and the parts in it. */
const dialects: Record<string, { type: string; form: string; parts: ReadPart[] }> = {
  "curl: many dashes": {
    type: "multipart/form-data; boundary=------------------------d74496d66958873e",
    form: lines(
      "--------------------------d74496d66958873e",
      'Content-Disposition: form-data; name="file"; filename="a-1-1.noarch.rpm"',
      "Content-Type: application/octet-stream",
      "",
      "the bytes",
      "--------------------------d74496d66958873e--",
      "",
    ),
    parts: [{ name: "file", fileName: "a-1-1.noarch.rpm", text: "the bytes" }],
  },
  "the Ruby gem: an unquoted boundary and an extra line break at the end": {
    type: "multipart/form-data; boundary=6b002ccc",
    form: lines(
      "--6b002ccc",
      'Content-Disposition: form-data; name="name"',
      "",
      "gcc-c++",
      "--6b002ccc",
      'Content-Disposition: form-data; name="file"; filename="a.rpm"',
      "",
      "the\r\n--bytes\r\n",
      "--6b002ccc--",
      "",
      "",
    ),
    parts: [
      { name: "name", fileName: undefined, text: "gcc-c++" },
      { name: "file", fileName: "a.rpm", text: "the\r\n--bytes\r\n" },
    ],
  },
  "Python: a quoted boundary with equals signs and headers of mail in every part": {
    type: 'multipart/form-data; boundary="===============6261442137=="',
    form: lines(
      "--===============6261442137==",
      "Content-Type: application/octet-stream",
      "MIME-Version: 1.0",
      "Content-Type-Encoding: binary",
      "Content-Transfer-Encoding: binary",
      'Content-Disposition: form-data; name="file"; filename="a.rpm"',
      "",
      "the bytes",
      "--===============6261442137==",
      'Content-Type: text/plain; charset="us-ascii"',
      "MIME-Version: 1.0",
      'content-disposition: form-data; name="base_system"',
      "",
      "tiny1",
      "--===============6261442137==--",
    ),
    parts: [
      { name: "file", fileName: "a.rpm", text: "the bytes" },
      { name: "base_system", fileName: undefined, text: "tiny1" },
    ],
  },
  "a hand-made client: no filename, no Content-Type, an unquoted name": {
    type: "Multipart/Form-Data; charset=utf-8;BOUNDARY=x",
    form: lines("--x", "Content-Disposition: form-data; name=file", "", "the bytes", "--x--"),
    parts: [{ name: "file", fileName: undefined, text: "the bytes" }],
  },
  "an old browser: a path as file name": {
    type: "multipart/form-data; boundary=x",
    form: lines(
      "--x",
      'Content-Disposition: form-data; name="file"; filename="C:\\rpms\\a \\"b\\".rpm"',
      "",
      "",
      "--x--",
    ),
    parts: [{ name: "file", fileName: 'C:\\rpms\\a "b".rpm', text: "" }],
  },
  "a form by the book of mail: words before, spaces behind boundaries, words after": {
    type: "multipart/form-data; boundary=x",
    form: lines(
      "This is a form.",
      "--x \t",
      'Content-Disposition: form-data; name="file"',
      "",
      "the bytes",
      "--x-- ",
      "That was it.",
      "--x",
    ),
    parts: [{ name: "file", fileName: undefined, text: "the bytes" }],
  },
  "a form without parts": { type: "multipart/form-data; boundary=x", form: "--x--\r\n", parts: [] },
  "a part without headers": {
    type: "multipart/form-data; boundary=x",
    form: lines("--x", "", "the bytes", "--x--"),
    parts: [{ name: undefined, fileName: undefined, text: "the bytes" }],
  },
};

describe("partsOf", () => {
  describe.each(Object.entries(dialects))("%s", (_, { type, form, parts }) => {
    it.each([1, 2, 7, 64, 65536])("reads it in chunks of %i bytes", async (chunkBytes) => {
      expect(await read(form, boundaryOf(type) ?? "", chunkBytes)).toEqual(parts);
    });
  });

  it.each([
    ["in the form of RFC 5987", "form-data; name=\"file\"; filename*=utf-8''b%C3%BCro.conf", "b\u00fcro.conf"],
    ["in both forms", 'form-data; name="file"; filename="buro.conf"; filename*=utf-8\'\'b%C3%BCro.conf', "buro.conf"],
    ["on a second line", 'form-data;\r\n\tname="file";\r\n filename="a.conf"', "a.conf"],
    ["that is damaged", "form-data; name=\"file\"; filename*=utf-8''b%FC", undefined],
  ])("reads a file name %s", async (_, disposition, fileName) => {
    const form = lines("--x", `Content-Disposition: ${disposition}`, "", "hello", "--x--", "");
    expect(await read(form, "x", 64)).toEqual([{ name: "file", fileName, text: "hello" }]);
  });

  it("keeps bytes that look like the start of a boundary", async () => {
    const body = `\r\n-\r\n--\r\n--boundar\r\r\n--boundarx\r\n--boundar`;
    const form = lines("--boundary", 'Content-Disposition: form-data; name="file"', "", body, "--boundary--");
    for (const chunkBytes of [1, 3, 1000]) {
      expect((await read(form, "boundary", chunkBytes))[0]?.text).toBe(body);
    }
  });

  it("passes on all byte values", async () => {
    const every = Uint8Array.from({ length: 3000 }, (_, index) => (index * 7) % 256);
    const form = new Uint8Array(
      await new Blob([
        lines("--x", 'Content-Disposition: form-data; name="file"', "", ""),
        every,
        "\r\n--x--",
      ]).arrayBuffer(),
    );
    for await (const { body } of partsOf(inChunks(form, 100), "x")) expect(await collected(body)).toEqual(every);
  });

  it("continues after a part that was not read, or only half", async () => {
    const form = `${field("a")}${field("b")}${field("c")}--x--`;
    const names: (string | undefined)[] = [];
    for await (const { name, body } of partsOf(inChunks(form, 100), "x")) {
      names.push(name);
      if (name !== "b") continue;
      const reader = body.getReader();
      await reader.read();
      await reader.cancel();
    }
    expect(names).toEqual(["a", "b", "c"]);
  });

  it("refuses a form that is cut off anywhere", async () => {
    const form = lines("--x", 'Content-Disposition: form-data; name="file"', "", "the bytes", "--x--");
    for (let length = 0; length < form.length; length++) {
      const fault = await faultOf(read(form.slice(0, length), "x", 5));
      expect(fault, `cut at ${length}`).toBeInstanceOf(MultipartFault);
    }
    expect(await read(form, "x", 5)).toHaveLength(1);
  });

  it("refuses a body without its boundary or with a longer one", async () => {
    const form = lines("--xyz", 'Content-Disposition: form-data; name="file"', "", "the bytes", "--xyz--");
    expect(await faultOf(read(form, "other", 100))).toBeInstanceOf(MultipartFault);
    expect(await faultOf(read(form, "x", 100))).toBeInstanceOf(MultipartFault);
  });

  it("refuses endless headers, an endless preamble and too many parts early", async () => {
    for (const start of ["--x\r\nContent-Disposition: ", "words", "--x"]) {
      const { stream, given } = endless(start);
      expect(await faultOf(partsOf(stream, "x").next())).toBeInstanceOf(MultipartFault);
      expect(given()).toBeLessThan(20_000);
    }
    const many = `${"--x\r\n\r\n\r\n".repeat(101)}--x--`;
    expect(await faultOf(read(many, "x", 1000))).toBeInstanceOf(MultipartFault);
  });

  it("reads ahead only when earlier bytes are consumed", async () => {
    let asked = 0;
    const head = lines("--x", 'Content-Disposition: form-data; name="file"', "", "");
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          controller.enqueue(asked++ === 0 ? bytesOf(head) : new Uint8Array(1000));
        },
      },
      { highWaterMark: 0 },
    );
    const parts = partsOf(stream, "x");
    const { value } = await parts.next();
    const reader = value?.body.getReader();
    for (let read = 1; read < 20; read++) {
      await reader?.read();
      expect(asked).toBeLessThanOrEqual(read + 2);
    }
    await reader?.cancel();
  });
});

describe("boundaryOf", () => {
  it("is undefined for a body that is not a form", () => {
    for (const type of [
      null,
      "",
      "application/xml",
      "application/x-www-form-urlencoded",
      "multipart/mixed; boundary=x",
    ]) {
      expect(boundaryOf(type)).toBeUndefined();
    }
  });

  it("refuses a form without a usable boundary", () => {
    for (const type of [
      "multipart/form-data",
      "multipart/form-data; boundary=",
      `multipart/form-data; boundary=${"x".repeat(71)}`,
    ]) {
      expect(() => boundaryOf(type)).toThrow(MultipartFault);
    }
  });
});
