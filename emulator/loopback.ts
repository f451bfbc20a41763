/** Whether a host name of a URL is this machine's loopback. The package has a list of its own: see `provider/text/address.ts`. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
