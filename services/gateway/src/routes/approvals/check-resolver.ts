import { checkResolver } from '@countersign/contracts/gateway';
import { findObstacles } from '../../approvals/find-obstacles.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const checkResolverRoute = ({ database }: Context) =>
  handleWorkspace(checkResolver)(async ({ body: { requests }, caller }) => {
    const resolver = { ...caller, resolver: caller.actor };
    return { obstacles: await findObstacles(database.reader, requests, resolver) };
  });
