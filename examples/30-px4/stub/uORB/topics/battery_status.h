#pragma once
struct battery_status_s {
  float remaining; // 0 to 1
};
