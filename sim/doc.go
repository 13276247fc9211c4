// Package sim simulates hybrid systems: ordinary differential equations whose right-hand side changes at events.
package sim
