#pragma once
#include <uORB/Subscription.hpp>

namespace uORB {
template <class T> class Publication {
public:
  explicit Publication(orb_id) {}
  bool publish(const T &value) {
    orb_topic<T>::value = value;
    orb_topic<T>::generation++;
    return true;
  }
};
} // namespace uORB
