/** An open file of this process: /dev/stdout, /dev/fd/3, /proc/self/fd/3. */
const DESCRIPTOR =
  /^(?:\/dev\/(stdin|stdout|stderr)|(?:\/dev\/fd|\/proc\/(?:self|thread-self)\/fd)\/(\d{1,6}))$/;

/** The descriptor that a path means; undefined for any other path. */
export const descriptorOf = (path: string): number | undefined => {
  const [, name, number] = DESCRIPTOR.exec(path) ?? [];
  if (name !== undefined) return ["stdin", "stdout", "stderr"].indexOf(name);
  return number === undefined ? undefined : Number(number);
};

/** Whether a path means standard output. */
export const isStdout = (path: string): boolean => path === "-" || descriptorOf(path) === 1;
