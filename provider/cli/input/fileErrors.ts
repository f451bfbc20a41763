/** Why a file cannot be read or written, in words. */
export function describeFileError(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT") return "file or folder not found";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a folder; name a file";
  if (code === "ENOSPC" || code === "EDQUOT") return "no space left on the disk";
  if (code === "EROFS") return "the file system is read-only";
  if (code === "ENOTDIR") return "a part of the path is a file, not a folder";
  if (code === "ELOOP") return "its symbolic links form a circle";
  if (code === "ENXIO") return "it is a socket; name a file";
  return typeof code === "string" ? code : "unreadable";
}
