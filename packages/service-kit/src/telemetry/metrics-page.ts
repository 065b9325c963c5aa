import type { Express } from 'express';
import type { Telemetry } from './open-telemetry.ts';

/** `/metrics` for Prometheus. Keep it on an internal port, since the load of a kernel is not public. */
export function mountMetrics({ prometheus }: Pick<Telemetry, 'prometheus'>): (app: Express) => void {
  return (app) => {
    app.get('/metrics', (_req, res, next) => {
      prometheus().then((text) => {
        res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' });
        res.end(text);
      }, next);
    });
  };
}
