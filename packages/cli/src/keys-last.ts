/** A public key in base64url that begins with a dash, so that it looks like an option. */
const dashedKey = /^-[A-Za-z0-9_-]{42}$/;

/** Moves such keys behind `--`, where every argument is a value. The value of an option stays in its place. */
export function withKeysLast(argv: readonly string[]): string[] {
  if (argv.includes('--')) return [...argv];
  const isMoved = (argument: string, at: number) => dashedKey.test(argument) && !argv[at - 1]?.startsWith('--');
  const moved = argv.filter(isMoved);
  return moved.length === 0 ? [...argv] : [...argv.filter((argument, at) => !isMoved(argument, at)), '--', ...moved];
}
