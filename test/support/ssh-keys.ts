/** Public keys that ssh-keygen made. */
export const sshKeys = {
  ed25519: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJL5HrmwZPxa8T+qEC+VGXo4ac3Ht7ij3ecOoKAerKsD clerk@desk1",
  ecdsa:
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGbhwRyAhfmX0l8SJDd/nqAA2K2DdV/+wcqBsHK2Y776bHQOQfBvZkYYfvPigumjnsVGR5Tf23wosixFK+IbHCY= clerk@desk1",
  rsa2048:
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC0MGxT4LrMkS/LzC08dvP+F9sZlxkYVCcYbS7C18Q1g6ZuXstJygmcNEN8i95pwMGraBSuEOhn6r/RcqFzZkFC1pp3YjDRG02Uz0lvgVOP2+0eCxv0Disga+sOgDdn57WcCfDFX0NaoFXrxnRys1MWrqibj2R//NX4uDYSD0m5JJ3EF/bMwm5YEKN96yjnk+THW8P/55zcdAP7QsczPsdqIwqFpz5yBTY55E9IzJ4cSbFqMmM8GJ18c5aqdycINDYRSeIloPA/Qr2YT/oBoDS86BtO01XUc4X4FV9hAokQMVk42Qjr1+eEY7XybUMCeOCgSrsY+D4ucrvHfw9djeNp clerk@desk1",
  rsa1024:
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCZHFX2jrYRB688f+z91iElt1GRiJIqeZSMoBtuIDawM9CrX3mg5oI4L6wfYcrA+46bdVljmihNaPawk869cL98HneoYzVXRRBqlMhKezt2hi1KmsXWiokos/vfPyAA78XZdnkSdV0draz4xvCyxjTpD8syRkx2+tX0TWSAb3fCGQ== clerk@desk1",
} as const;
