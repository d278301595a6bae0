const words: Readonly<Record<string, string>> = {
  overlay_file: "file",
  timezone: "time zone",
  hostname: "host name",
  ip: "IP address",
  memory_mb: "memory in MB",
  gpg_key: "key",
  ssh_keys: "SSH keys of",
  webyast: "WebYaST",
};

/** The name that people use for a setting of a difference. */
export const settingWords = (name: string): string => words[name] ?? name.replaceAll("_", " ");
