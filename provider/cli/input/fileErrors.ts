/** Why a file cannot be read or written, in words. */
export function describeFileError(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT") return "file or folder not found";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a folder; name a file";
  if (code === "ELOOP") return "its symbolic links form a circle";
  if (code === "ENXIO") return "it is a socket; name a file";
  return typeof code === "string" ? code : "unreadable";
}
