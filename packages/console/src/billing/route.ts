// The sheet loads with the page, and not with the console.
import '../commercial/commercial.css';

export { BillingPage } from './billing-page.tsx';
