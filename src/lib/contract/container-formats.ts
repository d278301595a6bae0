import type { ImageFormat } from "./image-format.ts";

/** In the texts, `{file}` is the download, `{name}` its name without extensions, `{tag}` the container image's name. */
export const containerFormats = {
  oci: {
    label: "container",
    icon: "box",
    product: "container",
    layout: "oci",
    what: "A tar archive with a container image (OCI) for Docker, Podman and registries.",
    ways: [
      {
        title: "Run it in Docker",
        note: "Podman has the same commands.",
        lines: ["docker load --input {file}", "docker run --rm --interactive --tty {tag}"],
      },
      {
        title: "Copy it to a registry",
        note: "Replace registry.example.org with your registry. skopeo reads the unpacked archive.",
        lines: [
          "mkdir {name}",
          "tar -xzf {file} -C {name}",
          "skopeo copy oci:{name} docker://registry.example.org/{tag}",
        ],
      },
    ],
  },
  wsl: {
    label: "WSL",
    icon: "terminal",
    product: "container",
    what: "A tar archive with the root file system, for the Windows Subsystem for Linux.",
    ways: [
      {
        title: "Import it into WSL, in PowerShell",
        lines: ["wsl --import {name} $HOME\\{name} {file}", "wsl --distribution {name}"],
      },
      {
        title: "Enter it on Linux",
        lines: ["mkdir {name}", "sudo tar -xzf {file} -C {name}", "sudo chroot {name} /bin/sh"],
      },
    ],
  },
} satisfies Readonly<Record<string, ImageFormat>>;
