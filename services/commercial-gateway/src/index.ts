export { openCommercialDatabase } from './store/database.ts';
