import { command, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { signDisk } from "../sign-disk.ts";

export const sign = [
  command("sign <file>", {
    summary: "Sign the kernel of a downloaded disk with your own key, for Secure Boot",
    details:
      "The disk is a raw one (oem), whose appliance has the package systemd-ukify. The signed program has the kernel, the initial " +
      "RAM disk and the kernel's arguments. Firmware starts it in place of GRUB, if it knows the certificate, which is then in " +
      "EFI/kiln.cer of the disk. Needs sbsign, mcopy and sfdisk on this machine. The key never leaves it.",
    options: {
      key: value("file", "your private key, in PEM; or, with --engine, the address of a key"),
      certificate: value("file", "its certificate, in PEM"),
      engine: value("name", "the engine of OpenSSL that has the key, such as pkcs11"),
    },
    examples: [
      "kiln sign First.x86_64-0.0.1.raw --key owner.key --certificate owner.pem",
      "kiln sign First.x86_64-0.0.1.raw --engine pkcs11 --key 'pkcs11:object=owner' --certificate owner.pem",
    ],
    act: async ({ show }, { file, key, certificate, engine }) => {
      if (key === undefined || certificate === undefined) throw withoutKey();
      const signed = await signDisk(file, { key, certificate, engine });
      show({ signed: { file, certificate_sha256: signed.certificate } }, () => `${file} is signed.`);
    },
  }),
];

const withoutKey = () =>
  new Complaint(
    "misused",
    "The key or its certificate is missing.",
    "Name both: --key owner.key --certificate owner.pem",
  );
