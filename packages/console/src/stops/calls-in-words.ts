/** "1 call", "2 calls", "1,000 calls". */
export function callsInWords(calls: number): string {
  return `${calls.toLocaleString('en-US')} ${calls === 1 ? 'call' : 'calls'}`;
}
