import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, openAsBlob, writeFileSync } from "node:fs";
import { join } from "node:path";

const control = `Package: kiln-greeter
Version: 1:2.0~rc1-3
Architecture: all
Maintainer: Kiln's tests <tests@example.org>
Depends: adduser
Description: says hello
`;

const postinst = `#!/bin/sh
set -e
adduser --system --group --no-create-home greeter
cat /usr/share/kiln-greeter/greeting > /var/lib/greeted
`;

/** An account's own package, made by dpkg-deb in that folder. Its script needs another package. */
export async function ownDeb(folder: string): Promise<Blob> {
  const root = join(folder, "kiln-greeter");
  const files = {
    "DEBIAN/control": control,
    "DEBIAN/postinst": postinst,
    "usr/share/kiln-greeter/greeting": "hello from our own package\n",
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true, mode: 0o755 });
    writeFileSync(join(root, path), content);
  }
  chmodSync(join(root, "DEBIAN/postinst"), 0o755);
  execFileSync("dpkg-deb", ["--root-owner-group", "-Zgzip", "--build", root, `${root}.deb`], { stdio: "pipe" });
  return await openAsBlob(`${root}.deb`);
}
