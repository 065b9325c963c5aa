import type { Express } from 'express';
import type { Telemetry } from './open-telemetry.ts';

/** `/metrics` for Prometheus. It belongs on a port that the world does not reach: how busy a kernel is is nobody's business. */
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
