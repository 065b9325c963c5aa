import * as commercial from '@countersign/contracts/commercial-gateway';
import type { Published } from './_published.ts';

type Doors = {
  /** The commercial gateway, reached through the gateway as people do. */
  door: Published;
  /** The commercial gateway at its own address. */
  direct: Published;
};

/** Asks every route of the commercial gateway once. */
export async function askCommercial({ door, direct }: Doors): Promise<void> {
  for (const route of [commercial.showFrontPage, commercial.getOpenApi, commercial.getHealth]) await direct.ask(route);
  for (const route of [commercial.getLiveness, commercial.getReadiness]) await direct.ask(route);
  await door.ask(commercial.getCommercialStatus);
}
