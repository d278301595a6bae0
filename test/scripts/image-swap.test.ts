/** The program of an image that makes its swap file, run here in a separate mount namespace. */
import { describe, expect, it } from "vitest";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { plain } from "../kiwi/support/facts.ts";
import { bareSystem } from "./support/bare-system.ts";

const { dir, fileOf, inBareSystem } = bareSystem();

const settings = { ...plain.settings, swapSizeMb: 4 };
const program = descriptionFiles({ ...plain, settings })["root/usr/lib/kiln/swap"] ?? "";
const swap = fileOf("swap", program.replace("/proc/mounts", fileOf("mounts", "/dev/vda1 / ext4 rw 0 0\n")));
/** Takes the place of the real one, and says whether it gets what mkswap makes. */
fileOf("swapon", `#!/bin/sh\ntail -c +4087 "$1" | head -c 10; echo " $(stat -c '%a %s' "$1")"\n`);
// The host's own name for it is a link to /etc/alternatives.
fileOf("awk", '#!/bin/sh\nexec mawk "$@"\n');

const cut = fileOf("cut", "#!/bin/sh\nkill -9 $PPID\n");
const ready = "SWAPSPACE2 600 4194304\n";

describe.each(["bash", "dash"])("swap in a file, made by %s,", (shell) => {
  const inDisk = (commands: string, size = "100M") =>
    inBareSystem(
      `mount -t tmpfs -o size=${size} none /var/lib; mkdir /var/lib/kiln; PATH=${dir}:$PATH\n${commands}`,
      shell,
    ).output;

  it("is made once", () => {
    const number = "stat -c %i /var/lib/kiln/swap";
    const output = inDisk(`SHELL ${swap}; first=$(${number}); SHELL ${swap}; [ $(${number}) = $first ] && echo same`);
    expect(output).toBe(`${ready}${ready}same\n`);
  });

  it.each(["dd", "mkswap"])("is made again after a power cut during %s", (name) => {
    const first = `mkdir ${dir}/in; ln -s ${cut} ${dir}/in/${name}; PATH=${dir}/in:$PATH SHELL ${swap}`;
    const output = inDisk(`(${first}) > /dev/null 2>&1; rm -r ${dir}/in; SHELL ${swap}; ls /var/lib/kiln`);
    expect(output).toBe(`${ready}swap\n`);
  });

  it.each([
    ["lxc", ""],
    ["wsl", ready],
  ])("is only made in a container that can swap (%s)", (kind, said) => {
    const inside = `mount -t tmpfs none /run; mkdir /run/systemd; echo ${kind} > /run/systemd/container`;
    expect(inDisk(`${inside}; SHELL ${swap}`)).toBe(said);
  });

  it("is not made on a disk without room for it, and leaves nothing there", () => {
    expect(inDisk(`SHELL ${swap}; ls /var/lib/kiln`, "60M")).toBe(
      "kiln: not enough free disk space for 4 MB of swap\n",
    );
  });
});
