import { AppError } from '@countersign/contracts';
import { getConsistencyProof } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { provenConsistent } from '../../evidence/proof/log-proofs.ts';
import { createLogReader } from '../../evidence/proof/log-reader.ts';
import { logSource } from '../../store/log-source.ts';
import { growLogTree } from '../../store/log-tree-store.ts';

export const getConsistencyProofRoute = ({ reader, transaction, provider }: Context) =>
  handleTenant(getConsistencyProof)(async ({ query: { from, to } }) => {
    if (from > to) throw new AppError('INVALID_REQUEST', 'from is greater than to', { param: 'from' });
    const { size } = await growLogTree(transaction, provider);
    if (to > size) throw new AppError('INVALID_REQUEST', `The log has ${size} leaves`, { param: 'to' });
    const nodes = createLogReader(provider, logSource(reader));
    return { from, to, hashes: await provenConsistent(provider, nodes, { from, to }) };
  });
