import { queryableOf, type Transaction } from '@countersign/messaging';
import type { Prisma } from './prisma.ts';

/** Our transactions as messaging wants them, for its own tables. */
export function messagingTransaction(prisma: Prisma): Transaction {
  return (work) => prisma.$transaction((tx) => work(queryableOf(tx)));
}
