/**
 * Lets members take turns, forward in one round and backward in the next. Quick and slow changes of the machine then
 * affect all alike, and the n-th windows of two members form a pair.
 */
export async function takeTurns<Member, Window>(
  members: ReadonlyMap<string, Member>,
  rounds: number,
  measure: (member: Member) => Promise<Window>,
): Promise<Map<string, Window[]>> {
  const forth = [...members].map(([name, member]) => ({ name, member, windows: [] as Window[] }));
  const back = [...forth].reverse();
  for (let round = 0; round < rounds; round += 1) {
    for (const { member, windows } of round % 2 === 0 ? forth : back) windows.push(await measure(member));
  }
  return new Map(forth.map(({ name, windows }) => [name, windows]));
}
