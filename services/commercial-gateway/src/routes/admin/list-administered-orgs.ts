import { listAdministeredOrgs } from '@countersign/contracts/commercial-gateway';
import * as admin from '../../admin/list-administered-orgs.ts';
import type { Context } from '../../context.ts';
import { handleAdmin } from '../../handle.ts';

export const listAdministeredOrgsRoute = ({ database, now }: Pick<Context, 'database' | 'now'>) =>
  handleAdmin(listAdministeredOrgs)(({ query }) => admin.listAdministeredOrgs(database.reader, query, now()));
